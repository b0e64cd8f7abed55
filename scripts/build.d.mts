export declare function build(settings?: {
  clean?: boolean;
  into?: string;
}): Promise<{ built: string[]; missing: string[] } | "no tools">;
