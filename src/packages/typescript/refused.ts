/** The service has refused a call. Nothing was done, unless the message says otherwise. */
export class Refused<Code extends string = string> extends Error {
  override readonly name = 'Refused'
  /** The operation that was called: `intents.create`. */
  readonly operation: string
  readonly status: number
  /** Why, for programs. Each operation has a closed list of them. */
  readonly code: Code
  /** Name it when you ask about the refusal. */
  readonly requestId: string | null

  constructor(operation: string, { status, code, message, requestId }: Refusal<Code>) {
    super(message)
    this.operation = operation
    this.status = status
    this.code = code
    this.requestId = requestId
  }
}

interface Refusal<Code> {
  readonly status: number
  readonly code: Code
  readonly message: string
  readonly requestId: string | null
}

/** Whether an error is a refusal of this operation: its code is then one of those that the operation has. */
export const isRefusal = (error: unknown, operation: string): boolean =>
  error instanceof Refused && error.operation === operation
