/** What a language model is told, in order. */
export type ModelMessage =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ModelCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly text: string }

/** A tool as a model sees it. */
export interface ModelTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: object
}

/** A tool that a model wants called. What it is called with is what the model has written: undefined where that is no object that can be kept. */
export interface ModelCall {
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>> | undefined
}

/** What a model says. What goes wrong on its side is an answer, too. */
export type ModelAnswer =
  | {
      readonly kind: 'said'
      readonly text: string
      readonly calls: readonly ModelCall[]
      readonly tokens: number
    }
  | { readonly kind: 'failed'; readonly reason: string }

/** A language model of somebody else: messages and tools in, text and calls out. */
export interface LanguageModel {
  answer(
    messages: readonly ModelMessage[],
    tools: readonly ModelTool[],
    most: { readonly milliseconds: number; readonly tokens: number },
  ): Promise<ModelAnswer>
}
