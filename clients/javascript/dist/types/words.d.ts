/** Words: texts that people are shown. docs/wire.md has the rule, which all readers share. */
/** Throw `Malformed` ("terms", and the field) unless a value is words of at most so many characters and bytes, on one line unless `lines`. */
export declare function checkWords(text: unknown, field: string, { characters, size, lines }: {
    characters?: number | undefined;
    size?: number | undefined;
    lines?: boolean | undefined;
}): asserts text is string;
