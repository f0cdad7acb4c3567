export interface SentenceSpec {
  /** Begins the sentence, if there is a part to say. */
  readonly start?: string
  /** The first alternative counts that can be said. */
  readonly parts: readonly (string | readonly string[])[]
  /** Without a part to say. */
  readonly otherwise?: string
}

export function sentence(spec: SentenceSpec, values: Readonly<Record<string, unknown>>): string
