/** The service has refused a call. Nothing was done unless the message says otherwise. */
export class Refused<Code extends string = string> extends Error {
  override readonly name = 'Refused'
  /** The operation: `intents.create`. */
  readonly operation: string
  readonly status: number
  /** The reason for programs. Each operation has a closed list of codes. */
  readonly code: Code
  /** Name it in questions about the refusal. */
  readonly requestId: string | null
  /** What a passkey must sign first: `passkeys.getChallenge(challengeId)`, with the same key. */
  readonly challengeId: string | null

  constructor(operation: string, { status, code, message, requestId, challengeId }: Refusal<Code>) {
    super(message)
    this.operation = operation
    this.status = status
    this.code = code
    this.requestId = requestId
    this.challengeId = challengeId
  }
}

interface Refusal<Code> {
  readonly status: number
  readonly code: Code
  readonly message: string
  readonly requestId: string | null
  readonly challengeId: string | null
}

/** Whether an error is a refusal of this operation; its code then has the type of the operation's codes. */
export const isRefusal = (error: unknown, operation: string): boolean =>
  error instanceof Refused && error.operation === operation
