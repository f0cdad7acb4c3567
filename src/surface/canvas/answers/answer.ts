import { interpret } from '../interpreter/interpret.ts'
import type { NamedAgent, Slots } from '../interpreter/meaning.ts'
import { type Line, say } from '../lines.ts'
import { type Answerer, euros, listed, type Page, type Speaker } from '../speaker.ts'
import { aboutMoney } from './money.ts'
import { aboutRecords } from './records.ts'

interface Policy {
  readonly id: string
  readonly merchantAllowlist: readonly string[]
  readonly merchantBlocklist: readonly string[]
  readonly [member: string]: unknown
}

interface Waiting {
  readonly id: string
  readonly amountEuros: number
  readonly merchant: string | null
}

const LIMITS = { day: 'dailyLimitEuros', month: 'monthlyLimitEuros', payment: 'maxTransactionEuros' } as const

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()
const without = (list: readonly string[], name: string) => list.filter(one => !isSame(one, name))
const withName = (list: readonly string[], name: string) => [...without(list, name), name]

/** Proposes that the rules of an agent become other ones: those that are not named stay. */
async function* changePolicy(
  { agent }: Slots,
  speaker: Speaker,
  change: (policy: Policy) => object | string,
): AsyncGenerator<Line> {
  if (!agent) return
  const policy = yield* speaker.ask<Policy>('policies.effective', { agentId: agent.id })
  if (!policy) return
  const changed = change(policy)
  if (typeof changed === 'string') return yield say(changed)
  yield* speaker.propose('policies.replace', { ...policy, ...changed })
}

/** The payment that waits, where it is clear which one is meant. */
async function* theWaiting({ intentId }: Slots, speaker: Speaker): AsyncGenerator<Line, string | undefined> {
  if (intentId !== undefined) return intentId
  const page = yield* speaker.ask<Page<Waiting>>('intents.list', { status: 'created', limit: 5 })
  if (!page) return undefined
  const [last, ...others] = page.data
  if (last && others.length === 0) return last.id
  if (!last) yield say('No payment waits.')
  else {
    const lines = [last, ...others].map(
      ({ id, amountEuros, merchant }) => `${euros(amountEuros)} to ${merchant ?? 'a payee'}: ${id}`,
    )
    yield listed(
      lines,
      { none: '', some: 'Several wait. Name the one that you mean by its id:' },
      page.hasMore,
    )
  }
  return undefined
}

/** What changes something: each becomes a proposal, or a question back. */
const changes: Readonly<Record<string, Answerer>> = {
  async *freeze({ agent }, speaker) {
    if (agent) yield* speaker.propose('agents.freeze', { id: agent.id })
  },
  async *unfreeze({ agent }, speaker) {
    if (agent) yield* speaker.propose('agents.unfreeze', { id: agent.id })
  },

  limit: (slots, speaker) =>
    changePolicy(slots, speaker, policy => ({
      [LIMITS[slots.per ?? 'day']]: slots.euros,
      ...(slots.merchant === undefined
        ? {}
        : {
            merchantAllowlist: withName(policy.merchantAllowlist, slots.merchant),
            merchantBlocklist: without(policy.merchantBlocklist, slots.merchant),
          }),
    })),

  askAbove: (slots, speaker) => changePolicy(slots, speaker, () => ({ autoApproveLimitEuros: slots.euros })),

  allowMerchant: (slots, speaker) =>
    changePolicy(slots, speaker, ({ merchantAllowlist, merchantBlocklist }) => {
      const { merchant = '', agent } = slots
      const isBlocked = merchantBlocklist.some(one => isSame(one, merchant))
      if (merchantAllowlist.length === 0 && !isBlocked)
        return `${agent?.name} may pay any merchant already, ${merchant} among them.`
      return {
        merchantAllowlist: merchantAllowlist.length === 0 ? [] : withName(merchantAllowlist, merchant),
        merchantBlocklist: without(merchantBlocklist, merchant),
      }
    }),

  blockMerchant: (slots, speaker) =>
    changePolicy(slots, speaker, ({ merchantAllowlist, merchantBlocklist }) => ({
      merchantAllowlist: without(merchantAllowlist, slots.merchant ?? ''),
      merchantBlocklist: withName(merchantBlocklist, slots.merchant ?? ''),
    })),

  async *createAgent({ text }, speaker) {
    yield* speaker.propose('agents.create', { name: text })
  },
  async *rename({ agent, text }, speaker) {
    if (agent) yield* speaker.propose('agents.update', { id: agent.id, name: text })
  },
  async *fund({ agent, euros: amountEuros }, speaker) {
    if (agent) yield* speaker.propose('agents.fund', { id: agent.id, amountEuros })
  },
  async *approve(slots, speaker) {
    const id = yield* theWaiting(slots, speaker)
    if (id !== undefined) yield* speaker.propose('intents.approve', { id })
  },
  async *deny(slots, speaker) {
    const id = yield* theWaiting(slots, speaker)
    if (id !== undefined) yield* speaker.propose('intents.deny', { id, reason: 'Denied in a conversation.' })
  },
  async *cancel({ intentId }, speaker) {
    yield* speaker.propose('intents.cancel', { id: intentId })
  },
}

const EXAMPLES = ['What did my agent spend this month?', 'Why was the last one refused?', 'What is waiting?']

const help: Answerer = async function* () {
  yield say(
    `I read, and I propose changes. For example:\n${EXAMPLES.map(one => `- ${one}`).join('\n')}\n- Let my agent spend 20 € a day at bookshop.example\n- Freeze my agent`,
  )
}

const answerers: Readonly<Record<string, Answerer>> = {
  ...aboutMoney,
  ...aboutRecords,
  ...changes,
  budgets: (_, speaker) => aboutMoney.left?.({}, speaker) ?? help({}, speaker),
  help,
}

/** Answers a sentence by the grammar; `otherwise` answers what it does not know, where there is something that can. */
export async function* answer(
  sentence: string,
  speaker: Speaker,
  otherwise?: () => AsyncGenerator<Line>,
): AsyncGenerator<Line> {
  const page = yield* speaker.ask<Page<NamedAgent>>('agents.list', { limit: 100 })
  if (!page) return
  const agents = page.data.map(({ id, name }) => ({ id, name }))
  const meaning = interpret(sentence, { agents, now: speaker.now })
  if (meaning.kind === 'unclear') return yield say(meaning.question)
  const answerer = meaning.kind === 'asked' ? answerers[meaning.name] : undefined
  if (meaning.kind === 'asked' && answerer) return yield* answerer(meaning.slots, speaker)
  if (otherwise) return yield* otherwise()
  yield say(
    `I do not know that. Three things that you can ask:\n${EXAMPLES.map(one => `- ${one}`).join('\n')}`,
  )
}
