/** Words: texts that are shown to people. docs/wire.md has the rule for all readers. */
/** Throw `Malformed` ("terms", and the field) unless a value is words within the limits of characters and bytes, on one line unless `lines`. */
export declare function checkWords(text: unknown, field: string, { characters, size, lines }: {
    characters?: number | undefined;
    size?: number | undefined;
    lines?: boolean | undefined;
}): asserts text is string;
