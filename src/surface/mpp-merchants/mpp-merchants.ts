import {
  createChallenge,
  type PaidArticle,
  type PaidArticleSource,
  type PathParams,
  type PaymentRequiredContext,
  paymentRequiredHandler,
  presentedPaymentCredential,
} from '../../commerce/collect/index.ts'
import { currentMppKey } from '../../commerce/mpp-keys/index.ts'
import { PLATFORM_OWNER_ID } from '../../identity/customers/index.ts'
import { area } from '../../kernel/contract/area.ts'
import type { Context, DecideContext } from '../../kernel/contract/context.ts'
import type { ByteStream, ResponseFile } from '../../kernel/contract/file.ts'
import { bindHandlers, type HandlerOf, type InputOf } from '../../kernel/contract/operation.ts'
import type { Systems } from '../../kernel/contract/ports.ts'
import { type AnswerWithHeaders, type HandlerAnswer, withHeaders } from '../../kernel/contract/problem.ts'
import { isUnusableInput, parseReceipt, serializeChallenge, serializeReceipt } from '../../mpp/index.ts'
import { clock } from '../../values/clock.ts'
import { type Cents, cents, moneySchema, roundCents } from '../../values/money.ts'
import { type MerchantRefusal, mppMerchantsApi } from './api.ts'
import { findMerchantScenario, type MerchantScenario, type ScenarioAnswer } from './scenarios.ts'

/**
 * Keys and settlements of these merchants belong to the installation. Their money is fictitious, and is not
 * in a ledger.
 */
const tenant = { ownerId: PLATFORM_OWNER_ID, mode: 'test' } as const

const USUAL = cents(250n)

const json = (value: object): ResponseFile => ({ type: 'application/json', content: JSON.stringify(value) })

/** Fixed in test mode, so that a challenge is the same when it is paid. */
function inDollars(amountCents: Cents, systems: Pick<Systems, 'exchangeRates'>) {
  const source = systems.exchangeRates('test')
  if (source.name !== 'sandbox') throw new Error('the rates of test mode are fixed')
  const rate = Number(source.rates.get('USD'))
  return { amount: String(roundCents(Number(amountCents) * rate)), currency: 'usd' }
}

/** A merchant that follows the protocol. Each scenario changes its offer or its answer. */
const payee: PaidArticleSource<ResponseFile, MerchantRefusal> = {
  async find({ scenario = '', amountEuros }, context) {
    const found = findMerchantScenario(scenario)
    if (!found) return undefined
    const now = clock.real()
    context.switchTenant(tenant, now)
    const { networks } = context.systems.acquirer('test')
    const amountCents = amountEuros === undefined ? USUAL : roundCents(Number(amountEuros) * 100)
    const subject = { requestId: null, walletId: null, agentId: null, scenario }
    const key = await currentMppKey(tenant, context)
    const accepted = { networks, sharedTokens: null }
    const members = { tenant, offsetMs: 0, now, key, subject, ...accepted, expiresAt: null, ended: null }
    return {
      ...members,
      externalId: scenario,
      amountCents,
      ...(found.inDollars ? { quote: inDollars(amountCents, context.systems) } : {}),
      description: `The scenario ${scenario} of the sandbox`,
      merchantName: 'Sandbox merchant',
    }
  },

  unlocked: ({ id, scenario, amountCents }) =>
    json({
      scenario,
      settlementId: id,
      amountEuros: moneySchema.encode(amountCents),
      content: 'What you have paid for.',
    }),

  answer(paid, { scenario: name = '' }, context) {
    const scenario = findMerchantScenario(name)
    return scenario ? afterCharge(paid, scenario, context) : paid
  },
}

const MANY = 10_000
const TINY = 'Payment id="a", realm="r", method="tempo", intent="charge", request="e30"'

function offerOf(
  article: PaidArticle,
  { challenge }: MerchantScenario,
  { host, rawBody: body }: PaymentRequiredContext,
): string | undefined {
  if (challenge === 'nothing') return undefined
  if (challenge === 'thousands') return Array.from({ length: MANY }, () => TINY).join(', ')
  if (challenge === 'other_methods') return `Bearer realm="sandbox", ${TINY}`
  const changed = typeof challenge === 'function' ? challenge(article) : {}
  return serializeChallenge(createChallenge(article, { host, body }, changed))
}

const RECEIPT = 'Payment-Receipt'
const PIECE = ' '.repeat(65_536)

const pause = (milliseconds: number) => new Promise<void>(resolve => clock.alarm(milliseconds, resolve))

/** Breaks the connection in the middle of the body. The pause lets the headers arrive first. */
async function* cutOff(): ByteStream {
  yield '{"content": "The first half of'
  await pause(200)
  throw new Error('the scenario cut-off hangs up in the middle of its answer')
}

async function* neverEnding(): ByteStream {
  for (let sent = 0; sent < 1_024; sent++) yield PIECE
}

async function* dawdling(): ByteStream {
  for (let second = 0; second < 120; second++) {
    yield ' '
    await pause(1_000)
  }
  yield '{}'
}

const bodies: Readonly<Partial<Record<ScenarioAnswer, () => ByteStream>>> = {
  cuts_off: cutOff,
  never_ends: neverEnding,
  dawdles: dawdling,
}

function afterCharge(
  paid: AnswerWithHeaders<ResponseFile>,
  { ending, receipt = same => same }: MerchantScenario,
  { refuse }: DecideContext<MerchantRefusal>,
): HandlerAnswer<ResponseFile> {
  const read = parseReceipt(paid.headers[RECEIPT] ?? '')
  if (isUnusableInput(read)) return paid
  const changed = receipt(read)
  const shown = changed === null ? {} : { [RECEIPT]: serializeReceipt(changed) }
  if (ending === 'fails') return withHeaders(refuse('failed'), shown)
  const body = bodies[ending]
  const file = body ? { type: 'application/json', content: body() } : paid.answer
  return withHeaders(file, { 'Cache-Control': 'private', ...shown })
}

function withoutCharge(
  article: PaidArticle,
  scenario: MerchantScenario,
  context: Context<MerchantRefusal>,
): HandlerAnswer<ResponseFile> {
  if (scenario.ending === 'forbids') return context.refuse('forbidden')
  if (scenario.ending === 'fails') return context.refuse('failed')
  const isDearer = scenario.ending === 'asks_more'
  return challengeAnswer(
    isDearer ? { ...article, amountCents: cents(article.amountCents * 10n) } : article,
    scenario,
    context,
  )
}

function challengeAnswer(
  article: PaidArticle,
  scenario: MerchantScenario,
  context: Context<MerchantRefusal>,
): HandlerAnswer<ResponseFile> {
  const offer = offerOf(article, scenario, context)
  const refusal = context.refuse('payment_required')
  return offer === undefined ? refusal : withHeaders(refusal, { 'WWW-Authenticate': offer })
}

const good = paymentRequiredHandler(payee)

type Input = InputOf<typeof mppMerchantsApi.get>

const paramsOf = ({ params, query: { amountEuros } }: Input): PathParams =>
  amountEuros === undefined ? params : { ...params, amountEuros }

/** Scenarios that do not charge the card only read; the others charge it like a payment request. */
const merchant: HandlerOf<typeof mppMerchantsApi.get> = {
  ...good,

  begin: {
    by: 'reading',
    async read(input, context) {
      const { scenario: name } = input.params
      const scenario = findMerchantScenario(name)
      if (!scenario) return context.refuse('scenario_not_found')
      if (scenario.challenge === 'no_money') return json({ scenario: name, content: 'This is free.' })
      if (scenario.challenge === 'elsewhere')
        return withHeaders(context.refuse('moved'), { Location: 'http://169.254.169.254/' })
      const params = paramsOf(input)
      const isPresented = presentedPaymentCredential(context) !== undefined
      if (isPresented && scenario.charges) return good.begin.read({ params }, context)
      const article = await payee.find(params, context)
      if (!article) return context.refuse('scenario_not_found')
      return isPresented
        ? withoutCharge(article, scenario, context)
        : challengeAnswer(article, scenario, context)
    },
  },
}

export const mppMerchantsArea = area(
  'Sandbox Merchants',
  'Test-mode merchants that programs pay: a good one, and all kinds of others.',
  bindHandlers(mppMerchantsApi, { get: merchant, post: merchant }),
)
