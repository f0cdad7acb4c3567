export type ModelMessage =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ModelCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly text: string }

export interface ModelTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: object
}

/** A tool call requested by a model. `input` is undefined if the model wrote no object that can be stored. */
export interface ModelCall {
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>> | undefined
}

/** A failure of the model is an answer, too. */
export type ModelAnswer =
  | {
      readonly kind: 'said'
      readonly text: string
      readonly calls: readonly ModelCall[]
      readonly tokens: number
    }
  | { readonly kind: 'failed'; readonly reason: string }

export interface LanguageModel {
  answer(
    messages: readonly ModelMessage[],
    tools: readonly ModelTool[],
    most: { readonly milliseconds: number; readonly tokens: number },
  ): Promise<ModelAnswer>
}
