import {
  type AccessSubject,
  type accessDenialEvents,
  cardIdsForIntents,
  denyCardAccess,
  loadAccessSubjects,
} from '../../../cards/access-events/index.ts'
import { machinePaymentTermsOfIntents } from '../../../control/intents/index.ts'
import type { Tenant } from '../../../kernel/contract/actor.ts'
import {
  type BatchedStep,
  type BatchItem,
  HotCall,
  type NonEmpty,
  recordInBatch,
} from '../../../kernel/contract/handlers.ts'
import type { Ports, Systems } from '../../../kernel/contract/ports.ts'
import type { Records } from '../../../kernel/contract/records.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import { tenantRecords } from '../../../kernel/database/entity-records.ts'
import {
  DEFAULT_MARGIN_PERCENT,
  findNewestRates,
  type NewestRates,
} from '../../../money/exchange-rates/index.ts'
import { newId } from '../../../values/ids.ts'
import { mintRefusals } from '../api.ts'
import type { credentialSenders } from '../credential.ts'
import { canonicalHost } from '../hosts.ts'
import { type MerchantRequest, urlWithoutQuery } from '../merchant-request.ts'
import { protectRulesForIntents } from '../protect.ts'
import type { ProtectRule } from '../protect-rule.ts'
import { merchantUrlProblem, payableHostProblem } from './address.ts'
import { mintCredentialStep } from './commit.ts'
import { type Confirming, findWaitingPayments, isRepetition, readConfirmation } from './confirm.ts'
import { fetchOfferAndMint, payableMethods } from './mint.ts'
import {
  type ConfirmStage,
  isPayProblem,
  type MachinePayment,
  type MachinePaymentProblem,
  type MachinePaymentProblemCode,
  type OfferStage,
  type PayingMethods,
} from './payment.ts'
import { type NotShared, recordShared } from './share.ts'

interface Payable {
  readonly body: { readonly intentId: string; readonly cardId?: string | undefined }
}

interface MerchantCall {
  readonly request: MerchantRequest
  readonly challenge: string | null
}

interface State {
  readonly records: Records
  readonly rules: readonly ProtectRule[]
  readonly rates: NewestRates | null
  readonly terms: Awaited<ReturnType<typeof machinePaymentTermsOfIntents>>
  readonly subjects: ReadonlyMap<BatchItem<Payable>, AccessSubject>
  readonly waiting: Awaited<ReturnType<typeof findWaitingPayments>>
  readonly systems: Systems
}

/**
 * Checks all conditions of the first request: the intent, the card, the address, the owner’s rules. Locks
 * nothing, and writes only a denial with all its reasons, as for every request for card data.
 */
export const reserveMachinePaymentStep = <I extends Payable>(
  merchantCallOf: (input: I) => MerchantCall,
  sentBy: (typeof credentialSenders)[number],
): BatchedStep<
  I,
  HotCall<OfferStage | ConfirmStage, NotShared>,
  MachinePaymentProblemCode,
  typeof accessDenialEvents,
  State
> => ({
  name: 'reserve',
  lanes: null,

  load: loadState,

  decide(item, state, verdict) {
    const subject = state.subjects.get(item)
    if (!subject) throw new Error('a query without its subject')
    const { tenant, actor, now, input } = item
    const { request, challenge } = merchantCallOf(input)
    const url = URL.parse(request.url)
    const merchantHost = url && canonicalHost(url)
    const access = { way: 'mpp', sourceId: null, purpose: null, merchantHost, keyThumbprint: null } as const
    const after = reasonsAgainst(request.url, subject, item, state)
    const waiting = after.length === 0 ? waitingPaymentOf(subject, state) : undefined
    if (waiting && isRepetition(waiting, { sentBy, request, challenge }))
      return askForConfirmation({ waiting, mode: tenant.mode, request, askedAt: now })
    const denial = denyCardAccess(subject, access, { after }, { ...item, ...verdict, records: state.records })
    if (denial) return denial
    const { card, number, intent } = subject
    if (!card || !number || !intent || !url)
      throw new Error('granted without a card, an intent or an address')
    const payment: MachinePayment = {
      mppCredentialId: newId('mppcredential'),
      ownerId: tenant.ownerId,
      mode: tenant.mode,
      agentId: card.agentId,
      delegationId: actor.delegationId ?? intent.delegationId,
      intentId: intent.id,
      intentMerchant: intent.merchant,
      heldCents: intent.holdCents ?? intent.amountCents,
      rates: state.rates,
      marginPercent: state.terms.get(intent.id)?.marginPercent ?? DEFAULT_MARGIN_PERCENT,
      ...methodsFor(intent.id, tenant, state),
      cardId: card.id,
      numberId: number.id,
      processorCardId: number.processorCardId,
      host: canonicalHost(url),
      url: urlWithoutQuery(url),
      request,
      challenge,
      askedAt: now,
    }
    return new HotCall({ stage: 'ask' }, async outside => {
      const offer = await fetchOfferAndMint(payment, outside)
      return isPayProblem(offer) ? offer : recordInBatch(mintCredentialStep(sentBy), offer)
    })
  },

  write: ({ records }) => records.flush(),
})

async function loadState<I extends Payable>(
  items: NonEmpty<BatchItem<I>>,
  sql: Sql,
  { systems }: Pick<Ports, 'systems'>,
): Promise<State> {
  const { tenant, now } = items[0]
  const records = tenantRecords(sql, { tenant, now })
  const payables = items.map(({ input }) => input.body)
  const intentIds = payables.map(({ intentId }) => intentId)
  const context = { sql, tenant, records }
  const { sharedTokens } = systems.cardProcessor(tenant.mode)
  const [chosen, rules, rates, terms, waiting] = await Promise.all([
    cardIdsForIntents(payables, context),
    protectRulesForIntents(intentIds, context),
    findNewestRates(tenant.mode, { sql, systems, now }),
    machinePaymentTermsOfIntents(intentIds, context),
    sharedTokens ? findWaitingPayments(sql, tenant, intentIds) : [],
  ])
  const subjects = await loadAccessSubjects(subjectQueries(items, chosen), context)
  return { records, rules, rates, terms, subjects, waiting, systems }
}

const askForConfirmation = (asked: Confirming): HotCall<ConfirmStage, NotShared> =>
  new HotCall({ stage: 'confirm', credentialId: asked.waiting.id }, async outside =>
    recordShared(await readConfirmation(asked, outside)),
  )

/** Only while agent and card can still pay. */
const waitingPaymentOf = ({ agent, card, number, intent }: AccessSubject, { waiting }: State) =>
  agent?.status === 'active' && card?.status === 'active' && number
    ? waiting.find(({ intentId, cardId }) => intentId === intent?.id && cardId === card.id)
    : undefined

/** The methods of the policy that the card's processor can pay by. */
function methodsFor(intentId: string, { mode }: Tenant, { terms, systems }: State): Required<PayingMethods> {
  const { methods: allowed = [] } = terms.get(intentId) ?? {}
  const processor = systems.cardProcessor(mode)
  const all = payableMethods(processor)
  const methods = allowed.length > 0 ? payableMethods(processor, allowed) : all
  return { methods, excluded: all.filter(method => !methods.includes(method)) }
}

const EXCLUDED =
  'The policy allows machine payments only by methods (mppMethods) that the card’s processor cannot pay by.'

const subjectQueries = <I extends Payable>(
  items: readonly BatchItem<I>[],
  chosen: readonly (string | null)[],
) =>
  new Map(
    items.map((item, n) => {
      const { actor, input } = item
      return [item, { actor, cardId: chosen[n] ?? null, intentId: input.body.intentId }] as const
    }),
  )

function reasonsAgainst(
  url: string,
  subject: AccessSubject,
  { tenant }: BatchItem<Payable>,
  state: State,
): MachinePaymentProblem[] {
  const { rules, systems } = state
  const processor = systems.cardProcessor(tenant.mode)
  const { card, intent } = subject
  const agentId = card?.agentId ?? intent?.agentId
  const refused = merchantUrlProblem(url, { tenant, systems })
  const isOther =
    !refused && intent && agentId !== undefined
      ? payableHostProblem(new URL(url), { agentId, merchant: intent.merchant }, rules)
      : undefined
  const message = `${mintRefusals.network_tokens_missing[1]} (${processor.name})`
  const hasNoTokens = card?.status === 'active' && payableMethods(processor).length === 0
  const isExcluded =
    !hasNoTokens &&
    card?.status === 'active' &&
    intent &&
    methodsFor(intent.id, tenant, state).methods.length === 0
  return [
    ...(refused ? [refused] : []),
    ...(isOther ? [isOther] : []),
    ...(hasNoTokens ? [{ code: 'network_tokens_missing' as const, message }] : []),
    ...(isExcluded ? [{ code: 'payment_denied' as const, message: EXCLUDED }] : []),
  ]
}
