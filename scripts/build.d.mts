export declare function build(settings?: {
  clean?: boolean;
}): Promise<{ built: string[]; missing: string[] } | "no tools">;
