import type { Actor, Tenant } from './actor.ts'

/** The description for a language model; the summary is for people. */
export interface ToolOptions {
  readonly name: string
  readonly use: string
  readonly example?: Readonly<Record<string, unknown>>
  /** It belongs to the small set that an agent's token is shown. */
  readonly isCommon?: true
  readonly isFinal?: true
}

export interface AssistantOptions {
  readonly tool?: ToolOptions
}

export interface SignatureRequirement {
  /** The path of the POST that gives the challenge; `{name}` is a member of the operation's own path or body. */
  readonly challenge: string
  /** The body of that POST: `$name` is such a member, left out where there is none. By default the operation's body. */
  readonly asks?: Readonly<Record<string, unknown>>
  /** People sign each time. Otherwise only where the operation is refused with `assertion_required`. */
  readonly always?: true
}

/**
 * People in the console sign where the operation lets more be spent. The refusal `assertion_required` links to the
 * challenge: only the operation itself can tell what it widens.
 */
export interface SignatureInRefusal {
  readonly inRefusal: true
}

/** Undefined where the refusal links to the challenge. */
export const signatureRequirement = (
  signature: SignatureOptions['signature'],
): SignatureRequirement | undefined => (signature && 'challenge' in signature ? signature : undefined)

export interface SignatureOptions {
  readonly signature?: SignatureRequirement | SignatureInRefusal
}

export interface ToolCaller {
  readonly actor: Actor
  readonly requestId: string
  readonly address: string | null
  readonly runId: string | null
}

export interface ToolDefinition {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: { readonly type: 'object'; readonly [keyword: string]: unknown }
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
}

export interface ToolTarget {
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly isWriting: boolean
  readonly takesKey: boolean
}

export interface DescribedTarget extends ToolTarget {
  readonly description: string
  readonly scope: string | null
  readonly inputSchema: ToolDefinition['inputSchema']
  readonly example: unknown
  readonly refusals: readonly { readonly code: string; readonly status: number; readonly message: string }[]
}

export interface ToolCallPlan {
  readonly target: ToolTarget
  /** The members, including those that the proposer's credential implies. */
  readonly given: Readonly<Record<string, unknown>>
  /** The operation that reads the record to be changed, if it names one. */
  readonly record: {
    readonly operation: string
    readonly given: Readonly<Record<string, string>>
    readonly id: string
  } | null
  readonly agentId: string | null
  readonly takesPasskey: boolean
  /** The given member that the operation seals, if there is one: see `secretMeta`. */
  readonly secret: string | undefined
  readonly canBeProposed: boolean
}

/** The answer of an operation to a tool; for a refusal its sentence. */
export interface ToolAnswer {
  readonly status: number
  readonly body?: unknown
  readonly refusal?: {
    readonly code: string
    readonly message: string
    /** Its header `Link`, which may name what a passkey must sign first. */
    readonly link?: string | undefined
  }
  /** It is the stored answer to the same call: nothing was done again. */
  readonly isRepeated: boolean
}

export interface OperationTools {
  /** Parses a message within bounds, and drops characters that cannot be stored. */
  read(bytes: Uint8Array): unknown
  /** The small set, as far as the caller may call it: read-only tools, and the others if `mayWriteByTools`. */
  listFor(actor: Actor, mayWrite: boolean): Promise<readonly ToolDefinition[]>
  named(name: string): ToolTarget | undefined
  target(operation: string): ToolTarget | undefined
  mayCall(actor: Actor, operation: string): boolean
  signatureOf(operation: string): SignatureRequirement | undefined
  search(actor: Actor, words: string, most: number): readonly ToolTarget[]
  describe(actor: Actor, operation: string): DescribedTarget | undefined
  call(
    caller: ToolCaller,
    operation: string,
    given: Readonly<Record<string, unknown>>,
    idempotencyKey: string | null,
    /** Where an operation may go on after its answer, the caller does not wait. */
    prefersAsync?: boolean,
  ): Promise<ToolAnswer>
  /**
   * The input that the operation would get; throws the problem of invalid input. Undefined where no tool
   * reaches it.
   */
  plan(
    caller: Pick<ToolCaller, 'actor'>,
    operation: string,
    given: Readonly<Record<string, unknown>>,
  ): ToolCallPlan | undefined
  readRecord(
    tenant: Tenant,
    operation: string,
    given: Readonly<Record<string, unknown>>,
    requestId: string,
  ): Promise<unknown>
  /** Reports to the operator why an answer failed: the caller is not shown the reason. */
  reportFailure(error: unknown, requestId: string): void
  /** Reports to the operator that a tool's answer contained what looks like a card number. */
  reportCardNumber(tool: string, requestId: string): void
}
