import { z } from 'zod'
import type { CardMessage, CardReply, ProcessorAnswer } from '../../ports/card-processor.ts'
import { cents } from './sandbox-wire.ts'

/** The JSON of the service's answers to the sandbox's messages. */
const Answer = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('approved'), approvedCents: cents, askedCents: cents }),
  z.strictObject({ kind: z.literal('declined'), reason: z.string() }),
  z.strictObject({ kind: z.literal('noted') }),
])

const wireOf = (reply: CardReply): z.output<typeof Answer> =>
  reply.kind === 'approved'
    ? { kind: 'approved', approvedCents: reply.approvedEuros, askedCents: reply.askedEuros }
    : reply

export const answer = (_message: CardMessage, reply: CardReply): ProcessorAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(z.encode(Answer, wireOf(reply))),
})

/** The reply that an answer contains, as the simulated network reads it. */
export function replyIn({ body }: ProcessorAnswer): CardReply {
  const wire = z.decode(Answer, JSON.parse(body))
  return wire.kind === 'approved'
    ? { kind: 'approved', approvedEuros: wire.approvedCents, askedEuros: wire.askedCents }
    : wire
}
