/** Where a foreign case stands with us. */
export type MappingEntry =
  | {
      /** `<file stem>: <describe title> › <test name>`, of the suite beside this folder; several where several check it. */
      readonly test: string | readonly string[];
      /** Where ours differs, and why. */
      readonly note?: string;
    }
  | {
      /** Why no software NIC could check it, or what this device says instead. */
      readonly reason: string;
      readonly note?: string;
    };

/** The cases of one foreign file, by their names. */
export type Mapping = Readonly<Record<string, MappingEntry>>;

/** What names the tests of one describe() in full. */
export function testsOf(fileStem: string, title: string): (name: string) => string {
  return (name) => `${fileStem}: ${title} › ${name}`;
}
