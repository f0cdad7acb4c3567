import { describe, expect, test } from '@jest/globals'
import type { CardNumberState, IssuedCard } from '../../../src/ports/card-processor.ts'
import { aCard, getCard } from '../../support/cards/cards.ts'
import { anAgent, bodyOf, type TestClient } from '../../support/factories.ts'
import { answers, numbers, pass, sandbox, service } from './cards-service.ts'

function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** `deaf` does not receive the call; `mute` acts, but its answer is lost. */
type Mood = 'well' | 'deaf' | 'mute'

/** Remembers what it did, for comparison with the service's records. */
function rememberingProcessor() {
  const issued = new Map<string, IssuedCard>()
  const states = new Map<string, CardNumberState>()
  const limits = new Map<string, bigint | null>()
  let mood: Mood = 'well'
  const late = { failure: 'late' } as const
  const heard = <T>(act: () => T): T | typeof late => {
    if (mood === 'deaf') return late
    const answer = act()
    return mood === 'mute' ? late : answer
  }
  const number: typeof sandbox.issue = async (card, call) => {
    const made = (await sandbox.issue(card, call)) as IssuedCard
    return heard(() => {
      if (!issued.has(call.reference)) limits.set(made.processorCardId, card.controls.dailyLimitCents)
      issued.set(call.reference, made)
      return made
    })
  }
  answers.issue = number
  answers.replace = (_, card, call) => number(card, call)
  answers.setState = async (id, state) => {
    if (states.get(id) === 'closed' && state !== 'closed') throw new Error('a closed number was opened again')
    return heard(() => {
      states.set(id, state)
      return { done: true }
    })
  }
  answers.setControls = async (id, { dailyLimitCents }) =>
    heard(() => {
      limits.set(id, dailyLimitCents)
      return { done: true }
    })
  const turn = (next: Mood) => {
    mood = next
  }
  return { issued, states, limits, turn }
}

const moods = ['well', 'deaf', 'mute'] as const

async function live(
  client: TestClient,
  id: string,
  random: (below: number) => number,
  turn: (next: Mood) => void,
) {
  const params = { id }
  const steps = [
    () => client.cards.freeze({ params, body: {} }),
    () => client.cards.unfreeze({ params }),
    () => client.cards.setLimits({ params, body: { dailyLimitEuros: random(100) } }),
    () => client.cards.rotate({ params, body: { overlapMinutes: random(3) * 10 } }),
    () => pass(client, { seconds: 5 + random(60) }),
    () => pass(client, { minutes: 1 + random(20) }),
    async () => turn(moods[random(3)] ?? 'well'),
    () => Promise.all([client.cards.freeze({ params, body: {} }), pass(client, { seconds: 30 })]),
    ...(random(3) === 0 ? [() => client.cards.close({ params, body: {} })] : []),
  ]
  for (let n = 0; n < 14; n++) await steps[random(steps.length)]?.()
}

describe('the life of a card', () => {
  test.each([1, 3, 7, 12])(
    'ends with a processor that knows what the service knows, whatever went wrong between: %s',
    async seed => {
      const { client } = await service.owner()
      const random = randomFrom(seed)
      const known = rememberingProcessor()
      known.turn(moods[random(3)] ?? 'well')
      const { id } = await aCard(client, { agentId: (await anAgent(client)).id })
      await live(client, id, random, known.turn)
      known.turn('well')
      await pass(client, { minutes: 90 })
      const card = await getCard(client, id)
      const all = await numbers(id)
      // Each number that was issued is recorded, and none was issued twice.
      expect(all.map(one => one.processor_card_id).sort()).toEqual(
        [...known.issued.values()].map(one => one.processorCardId).sort(),
      )
      for (const one of all) {
        const isCurrent = one.status === 'current' && card.status !== 'closed'
        const wanted = isCurrent ? (card.status === 'active' ? 'active' : 'inactive') : 'closed'
        expect(known.states.get(one.processor_card_id) ?? 'inactive').toBe(wanted)
        expect(one.processor_state).toBe(wanted)
        const cents = known.limits.get(one.processor_card_id)
        if (isCurrent) expect(cents == null ? null : Number(cents) / 100).toBe(card.limits.dailyLimitEuros)
      }
      expect(all.filter(({ status }) => status === 'current')).toHaveLength(1)
      await bodyOf(client.cards.get({ params: { id } }))
    },
  )
})
