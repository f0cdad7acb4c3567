export interface SentenceSpec {
  /** Begins the sentence, if there is a part to say. */
  readonly start?: string
  readonly parts: readonly string[]
  readonly otherwise: string
}

export function sentence(spec: SentenceSpec, values: Readonly<Record<string, unknown>>): string
