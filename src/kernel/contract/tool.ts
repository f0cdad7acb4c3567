import type { Actor, Tenant } from './actor.ts'

/** What a contract says to a language model: the summary stands for people. */
export interface Tool {
  /** `declare_intent` */
  readonly name: string
  /** When to use it, and what not to assume. */
  readonly use: string
  /** Where the example of the body is not enough. */
  readonly example?: Readonly<Record<string, unknown>>
  /** Whether it belongs to the small set that an agent's token is shown. */
  readonly isCommon?: true
  /** Whether it cannot be taken back: money moves, or something ends. */
  readonly isFinal?: true
}

/** What a contract may say to assistants. */
export interface ForAssistants {
  readonly tool?: Tool
}

/** What a passkey signs for an operation. */
export interface Signature {
  /** The path of the POST that gives the challenge; `{name}` is a member of the operation's own path or body. */
  readonly challenge: string
  /** What that is asked with: `$name` is such a member, left out where there is none. The body, where nothing is said. */
  readonly asks?: Readonly<Record<string, unknown>>
  /** People sign each time. Otherwise they do where the operation is refused with `assertion_required`. */
  readonly always?: true
}

/** What the contract of an operation says whose body takes a `webauthnAssertion`. */
export interface Signed {
  readonly signature?: Signature
}

/** Who calls a tool, and in which request. */
export interface ToolCaller {
  readonly actor: Actor
  readonly requestId: string
  readonly address: string | null
  readonly runId: string | null
}

/** A tool as the Model Context Protocol lists it. */
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

/** An operation that a tool reaches, in one line. */
export interface ToolTarget {
  /** `intents.create` */
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly isWriting: boolean
  /** Whether an idempotency key is observed. */
  readonly takesKey: boolean
}

export interface DescribedTarget extends ToolTarget {
  readonly description: string
  readonly scope: string | null
  readonly inputSchema: ToolDefinition['inputSchema']
  readonly example: unknown
  readonly refusals: readonly { readonly code: string; readonly status: number; readonly message: string }[]
}

/** What a proposal would give to its operation. */
export interface Plan {
  readonly target: ToolTarget
  /** The members, with those that the proposer's credential implies. */
  readonly given: Readonly<Record<string, unknown>>
  /** The operation that gives the record which is to change, if it names one. */
  readonly record: {
    readonly operation: string
    readonly given: Readonly<Record<string, string>>
    readonly id: string
  } | null
  readonly agentId: string | null
  /** Whether it takes the signature of a passkey. */
  readonly takesPasskey: boolean
  /** It changes something, and a person may do it. */
  readonly canBeProposed: boolean
}

/** The answer of an operation to a tool; that of a refusal is its sentence. */
export interface ToolAnswer {
  readonly status: number
  /** Undefined where there is none. */
  readonly body?: unknown
  readonly refusal?: { readonly code: string; readonly message: string }
  /** Whether it is the kept answer to the same call: nothing was done again. */
  readonly isRepeated: boolean
}

/** The operations as tools, derived from the contracts. */
export interface Tools {
  /** Reads a message: bounded, and without what cannot be stored. */
  read(bytes: Uint8Array): unknown
  /** The small set, as far as the caller may call it: read-only ones, and the others where `mayWrite` says so. */
  listFor(actor: Actor, mayWrite: boolean): Promise<readonly ToolDefinition[]>
  /** The operation of a tool of the small set, by the tool's name. */
  named(name: string): ToolTarget | undefined
  /** An operation that a tool can reach. */
  target(operation: string): ToolTarget | undefined
  mayCall(actor: Actor, operation: string): boolean
  /** What a passkey signs for an operation that a tool can reach, if it takes a signature. */
  signatureOf(operation: string): Signature | undefined
  /** The operations that the caller may call and that match this text best. */
  search(actor: Actor, words: string, most: number): readonly ToolTarget[]
  describe(actor: Actor, operation: string): DescribedTarget | undefined
  /** Runs the operation as a request by HTTP would: the same rights, reading of the input, limits and keys. */
  call(
    caller: ToolCaller,
    operation: string,
    given: Readonly<Record<string, unknown>>,
    idempotencyKey: string | null,
  ): Promise<ToolAnswer>
  /** What the operation would be given; throws the problem of what it cannot be given. Undefined where no tool reaches it. */
  plan(
    caller: Pick<ToolCaller, 'actor'>,
    operation: string,
    given: Readonly<Record<string, unknown>>,
  ): Plan | undefined
  /** Reads a record with the rights of the service itself; undefined where there is none. */
  look(
    tenant: Tenant,
    operation: string,
    given: Readonly<Record<string, unknown>>,
    requestId: string,
  ): Promise<unknown>
  /** Reports to the operator why an answer failed: the caller is not shown the reason. */
  reportFailure(error: unknown, requestId: string): void
  /** Says to the operator that a number like that of a card would have left by a tool. */
  reportCardNumber(tool: string, requestId: string): void
}
