import type { Item } from '../../../kernel/contract/handlers.ts'
import type { CardMessage, CardReply, ProcessorAnswer } from '../../../ports/card-processor.ts'

/** A message of the processor, verified, with the card that it names. */
export interface IncomingMessage {
  readonly message: CardMessage
  readonly digest: string
  readonly agentId: string
  readonly cardId: string
  readonly numberId: string
  /** The network has been answered with a decline, as the decision came too late: whatever it left is undone. */
  readonly isLate: boolean
  readonly answer: (reply: CardReply) => ProcessorAnswer
}

export type MessageItem = Item<{ readonly body: IncomingMessage }>
