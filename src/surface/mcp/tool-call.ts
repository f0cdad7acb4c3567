/** The members that a tool is given. */
export type Given = Readonly<Record<string, unknown>>

export interface ToolCall {
  readonly name: string
  readonly given: Given
  /** Whether the client can open an address for its person. */
  readonly canOpenUrls: boolean
  /** What the client's person has answered to what was asked of them. */
  readonly responses: Readonly<Record<string, unknown>> | undefined
  /** What we have given the client along with what was asked: nothing proves that it is the same. */
  readonly state?: unknown
}
