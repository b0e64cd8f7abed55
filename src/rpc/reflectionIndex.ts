import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  type DescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
} from "@bufbuild/protobuf/wkt";

/** Finds the files of a descriptor set as the reflection protocol asks for them. */
export interface ReflectionIndex {
  /** The encoded file of that name and everything it imports; undefined where there is none. */
  fileByName(name: string): Buffer[] | undefined;
  /** The same for the file that declares a full name (package excepted). */
  fileOfSymbol(symbol: string): Buffer[] | undefined;
  /** The same for the file that declares an extension. */
  fileOfExtension(extendee: string, number: number): Buffer[] | undefined;
  /** The numbers of a type's extensions; undefined where the type is not known. */
  extensionNumbers(extendee: string): number[] | undefined;
}

/** Indexes an encoded `google.protobuf.FileDescriptorSet`. @throws Error on bytes that are none. */
export function createReflectionIndex(descriptorSet: Uint8Array): ReflectionIndex {
  const files = new Map<string, FileDescriptorProto>();
  const symbols = new Map<string, FileDescriptorProto>();
  const extensions = new Map<string, Map<number, FileDescriptorProto>>();
  for (const file of fromBinary(FileDescriptorSetSchema, descriptorSet).file) {
    files.set(file.name, file);
    const { names, extending } = declarations(file);
    for (const name of names) symbols.set(name, file);
    for (const { extendee, number } of extending) {
      const type = extendee.replace(/^\./, "");
      const numbers = extensions.get(type) ?? new Map<number, FileDescriptorProto>();
      extensions.set(type, numbers.set(number, file));
    }
  }
  const withImports = (first: FileDescriptorProto | undefined): Buffer[] | undefined => {
    if (first === undefined) return undefined;
    const found = new Set([first]);
    // The set grows while it is walked.
    for (const file of found) {
      for (const name of file.dependency) {
        const imported = files.get(name);
        if (imported !== undefined) found.add(imported);
      }
    }
    return [...found].map((file) => Buffer.from(toBinary(FileDescriptorProtoSchema, file)));
  };
  return {
    fileByName: (name) => withImports(files.get(name)),
    fileOfSymbol: (symbol) => withImports(symbols.get(symbol)),
    fileOfExtension: (extendee, number) => withImports(extensions.get(extendee)?.get(number)),
    extensionNumbers(extendee) {
      const numbers = extensions.get(extendee);
      if (numbers === undefined && !symbols.has(extendee)) return undefined;
      return [...(numbers?.keys() ?? [])];
    },
  };
}

interface Declarations {
  /** Full names of everything that a file declares. */
  readonly names: string[];
  /** The extensions among them. */
  readonly extending: FieldDescriptorProto[];
}

function declarations(file: FileDescriptorProto): Declarations {
  const names: string[] = [];
  const extending: FieldDescriptorProto[] = [];
  const scope = file.package === "" ? "" : `${file.package}.`;
  const addEnum = (prefix: string, type: { name: string; value: readonly { name: string }[] }): void => {
    // The values of an enum are siblings of the enum, not its children.
    names.push(prefix + type.name, ...type.value.map((value) => prefix + value.name));
  };
  const addExtensions = (prefix: string, fields: readonly FieldDescriptorProto[]): void => {
    names.push(...fields.map((field) => prefix + field.name));
    extending.push(...fields);
  };
  const addMessage = (prefix: string, type: DescriptorProto): void => {
    const inner = `${prefix}${type.name}.`;
    names.push(prefix + type.name);
    names.push(...type.field.map((field) => inner + field.name), ...type.oneofDecl.map((oneof) => inner + oneof.name));
    for (const nested of type.enumType) addEnum(inner, nested);
    for (const nested of type.nestedType) addMessage(inner, nested);
    addExtensions(inner, type.extension);
  };
  for (const type of file.messageType) addMessage(scope, type);
  for (const type of file.enumType) addEnum(scope, type);
  for (const service of file.service) {
    names.push(scope + service.name, ...service.method.map((method) => `${scope}${service.name}.${method.name}`));
  }
  addExtensions(scope, file.extension);
  return { names, extending };
}
