import type { CardMessage, MessageContent } from '../../ports/card-processor.ts'

/** What the processor does with a request by itself. Documented at `POST /simulate/card/authorize`. */
export interface Script {
  /** How often the request comes in. */
  readonly asks: number
  /** The processor's own word to the network, which wins over ours; null = it says what we answered. */
  readonly says: 'approved' | 'declined' | null
}

const ASKS_ONCE: Script = { asks: 1, says: null }

/** Amounts in cents. */
const scripts: ReadonlyMap<bigint, Script> = new Map([
  [91_01n, { asks: 0, says: 'approved' }],
  [91_02n, { asks: 1, says: 'declined' }],
  [91_03n, { asks: 2, says: null }],
])

export const scriptOf = (content: MessageContent): Script =>
  content.kind === 'authorization' && content.ask === 0
    ? (scripts.get(content.amountEuros) ?? ASKS_ONCE)
    : ASKS_ONCE

/** The messages of a script in their order: the request as often as it comes, then the word of the processor. */
export function messagesOf(message: CardMessage, { asks, says }: Script): CardMessage[] {
  const requests = Array.from({ length: asks }, () => message)
  const { id, content } = message
  if (says === null || content.kind !== 'authorization') return requests
  const { authorizationId, amountEuros, merchant } = content
  const word = { amountEuros, approved: says === 'approved' }
  const outcome = { kind: 'outcome' as const, authorizationId, asks: [word], merchant }
  return [...requests, { ...message, id: `${id}:outcome`, content: outcome }]
}
