import { expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import type { IncomingMessage } from '../../../src/cards/authorizations/network/incoming-message.ts'
import type { MessageContent } from '../../../src/ports/card-processor.ts'
import { clock } from '../../../src/values/clock.ts'
import { fillCards } from '../../bench/database/card-rows.ts'
import { fillAgents } from '../../bench/database/intent-rows.ts'
import { bookshop } from '../../support/cards/network.ts'
import { sandboxWith } from '../../support/cards/sandbox.ts'
import { startEngine } from '../../support/engine.ts'
import { times } from '../../support/sample-service.ts'

const ROUND_TRIPS = { authorization: 21, clearing: 23 }

const engine = await startEngine(areas)
const tenant = { ownerId: 'customer_bench', mode: 'test' } as const
const processor = sandboxWith()

/** Takes a message about the card of this agent. */
async function take(agent: number, content: MessageContent, id: string): Promise<string> {
  const message = { id, processorCardId: `sandboxcard_bench_${agent}`, sentAt: clock.real(), content }
  const body: IncomingMessage = {
    message,
    digest: id,
    agentId: `agent_bench_${agent}`,
    cardId: `card_bench_${agent}`,
    numberId: `cardnumber_bench_${agent}`,
    isLate: false,
    answer: reply => processor.answer(message, reply),
  }
  const outcome = await engine.run(tenant, 'authorizations.take', { body })
  return String(JSON.parse(String(outcome.body)).body)
}

const numbersOf = () => new Set(engine.batches.splice(0).map(({ roundTrips }) => roundTrips))

test('the messages of the card network take the same number of statements, however many come at once', async () => {
  const { ownerId } = tenant
  await fillAgents({ databaseUrl: engine.databaseUrl, ownerId, token: '', api: { url: '' } })
  await fillCards({ databaseUrl: engine.databaseUrl, ownerId, token: '', api: { url: '' } })
  const authorize = (n: number) =>
    take(1 + (n % 20), { ...request, authorizationId: `iauth-${n}` }, `authorization-${n}`)
  const clear = (n: number) =>
    take(1 + (n % 20), { ...clearing, authorizationId: `iauth-${n}`, clearingId: `c-${n}` }, `clearing-${n}`)
  const answers = await times(70, authorize)
  expect(answers.filter(answer => !answer.includes('approved'))).toEqual([])
  expect(numbersOf()).toEqual(new Set([ROUND_TRIPS.authorization]))
  await clear(0)
  engine.batches.splice(0)
  await times(69, n => clear(n + 1))
  expect(numbersOf()).toEqual(new Set([ROUND_TRIPS.clearing]))
})

const request = {
  kind: 'authorization',
  authorizationId: '',
  ask: 0,
  amountEuros: 950n,
  partialAllowed: false,
  merchant: bookshop,
} as const

const clearing = {
  kind: 'clearing',
  clearingId: '',
  authorizationId: '',
  amountEuros: 950n,
  final: true,
  merchant: bookshop,
} as const
