import { Dispute } from '../../commerce/disputes/index.ts'
import type { Handlers, InputOf } from '../../kernel/contract/operation.ts'
import type { Delivered, Ports } from '../../kernel/contract/ports.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import type { MessageContent } from '../../ports/card-processor.ts'
import { record, recover } from './card-network-answer.ts'
import type { cardNetworkApi } from './card-network-api.ts'
import * as content from './card-network-content.ts'
import { type About, type Known, type NetworkContext, prepare, type Sent } from './card-network-message.ts'

/** The key of the operation that takes the messages of all processors. */
const DOOR = 'authorizations.receive'

/** Each message is a request of its own, as over HTTP: what it changes is traced by its id. The last answer counts. */
async function deliver(
  { signed, messageId }: Sent,
  { ports }: { readonly ports: Ports },
): Promise<Delivered> {
  let answer: Delivered = { unsigned: 'Nothing was sent.' }
  for (const { body, headers } of signed) {
    const request = { body: Buffer.from(body), headers, requestId: messageId, address: null }
    answer = await ports.deliver(DOOR, request)
  }
  return answer
}

/** Signs a message, lets it in by the door of all messages, and tells what the network was answered. */
const playing = <B extends About>(
  contentOf: (body: B, known: Known, context: NetworkContext) => MessageContent | Refusal,
) => ({
  reserve: ({ body }: { readonly body: B }, context: NetworkContext) =>
    prepare(body, context, known => contentOf(body, known, context)),
  call: deliver,
  record,
  recover,
})

/** A dispute names its card; that it is one of the caller's is looked up first. */
const decidesDispute: Handlers<typeof cardNetworkApi>['disputeCard'] = {
  ...playing(content.deciding),
  async reserve({ body }: InputOf<typeof cardNetworkApi.disputeCard>, context) {
    const dispute = await context.records.findOne(Dispute, { id: body.disputeId })
    if (!dispute) return context.refuse('dispute_not_found')
    const about = dispute.cardId === null ? body : { ...body, cardId: dispute.cardId }
    return prepare(about, context, () => content.deciding(body))
  },
}

export const cardNetwork: Handlers<typeof cardNetworkApi> = {
  authorizeCard: playing(content.authorizing),
  incrementCard: playing(content.incrementing),
  reverseCard: playing(content.reversing),
  voidCard: playing(content.voiding),
  expireCard: playing(content.expiring),
  clearCard: playing(content.clearing),
  refundCard: playing(content.refunding),
  disputeCard: decidesDispute,
  shipCard: playing(content.shipping),
  changeMobileWallet: playing(content.addingToWallet),
}
