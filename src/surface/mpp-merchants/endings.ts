import type { Article, PayContext } from '../../commerce/collect/index.ts'
import type { ByteStream, File } from '../../kernel/contract/file.ts'
import { type Answer, WithHeaders, withHeaders } from '../../kernel/contract/problem.ts'
import { isUnusable, parseReceipt, writeReceipt } from '../../mpp/index.ts'
import { clock } from '../../values/clock.ts'
import type { MerchantContext } from './api.ts'
import type { Ending, Scenario } from './scenarios.ts'
import { offerOf } from './stand.ts'

const RECEIPT = 'Payment-Receipt'
const PIECE = ' '.repeat(65_536)

const pause = (milliseconds: number) => new Promise<void>(resolve => clock.alarm(milliseconds, resolve))

/** Ends the connection where the body is half sent. The pause lets the headers out before. */
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

const bodies: Readonly<Partial<Record<Ending, () => ByteStream>>> = {
  cuts_off: cutOff,
  never_ends: neverEnding,
  dawdles: dawdling,
}

/** Turns the answer of the good merchant into that of the scenario, once the card is charged. */
export function afterCharge(
  answer: Answer<File>,
  { ending, receipt = same => same }: Scenario,
  { refuse }: MerchantContext,
): Answer<File> {
  const given = answer instanceof WithHeaders ? answer.headers[RECEIPT] : undefined
  const read = given === undefined ? undefined : parseReceipt(given)
  if (!(answer instanceof WithHeaders) || read === undefined || isUnusable(read)) return answer
  const changed = receipt(read)
  const shown = changed === null ? {} : { [RECEIPT]: writeReceipt(changed) }
  if (ending === 'fails') return withHeaders(refuse('failed'), shown)
  const body = bodies[ending]
  const file = body ? { type: 'application/json', content: body() } : answer.answer
  return withHeaders(file, { 'Cache-Control': 'private', ...shown })
}

/** The answer to a credential that the merchant does not charge. */
export function withoutCharge(
  article: Article,
  scenario: Scenario,
  context: PayContext & MerchantContext,
): Answer<File> {
  if (scenario.ending === 'forbids') return context.refuse('forbidden')
  if (scenario.ending === 'fails') return context.refuse('failed')
  const isDearer = scenario.ending === 'asks_more'
  return asking(
    isDearer ? { ...article, amountEuros: article.amountEuros * 10n } : article,
    scenario,
    context,
  )
}

/** A 402 with what the merchant offers. */
export function asking(
  article: Article,
  scenario: Scenario,
  context: PayContext & MerchantContext,
): Answer<File> {
  const offer = offerOf(article, scenario, context)
  const refusal = context.refuse('payment_required')
  return offer === undefined ? refusal : withHeaders(refusal, { 'WWW-Authenticate': offer })
}
