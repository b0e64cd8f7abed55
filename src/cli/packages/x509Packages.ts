// What makes certificates, as a file beside the command's script: a start that makes none does not read it.
import "reflect-metadata";

export * from "@peculiar/x509";
