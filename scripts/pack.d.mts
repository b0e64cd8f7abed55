export declare function pack(folder: string): Promise<string>;
