/** A thing that owners ask, in the forms in which they ask it. `docs/assistants.md` lists them. */
export interface Form {
  readonly name: string
  readonly forms: readonly string[]
}
