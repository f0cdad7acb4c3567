import { cancelIntentOperation } from '../../../control/intents/index.ts'
import { isNonEmpty } from '../../../kernel/contract/handlers.ts'
import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import { Refusal } from '../../../kernel/contract/problem.ts'
import { mayReachRecord } from '../../../kernel/database/entity.ts'
import { paymentTokenEvent, type paymentTokensApi } from './api.ts'
import {
  findPaymentTokens,
  lockPaymentTokens,
  type PaymentTokenRow,
  paymentTokenMachine,
  unusablePaymentTokenReason,
  updatePaymentTokens,
} from './payment-token.ts'

type Handler = HandlerOf<typeof paymentTokensApi.revoke, State>
type Request = Parameters<Handler['decide']>[0]
type Cancellation = Parameters<typeof cancelIntentOperation.decide>[0]

interface State {
  readonly tokens: ReadonlyMap<string, PaymentTokenRow>
  readonly cancellations: ReadonlyMap<Request, Cancellation>
  readonly batch: unknown
  readonly revoked: PaymentTokenRow[]
}

const cancellationOf = (request: Request, { intentId }: PaymentTokenRow): Cancellation => ({
  ...request,
  input: {
    params: { id: intentId },
    query: {},
    body: { comment: 'The payment token of the intent has been revoked.' },
  },
})

export const revokePaymentToken = {
  async load(requests, sql, ports): Promise<State> {
    const { tenant } = requests[0]
    const ids = requests.map(({ input }) => input.params.id)
    const found = await findPaymentTokens(sql, tenant, ids)
    const cancellations = new Map(
      requests.flatMap(request => {
        const token = found.get(request.input.params.id)
        return token ? [[request, cancellationOf(request, token)] as const] : []
      }),
    )
    const cancelled = [...cancellations.values()]
    const batch = isNonEmpty(cancelled) ? await cancelIntentOperation.load(cancelled, sql, ports) : undefined
    const tokens = await lockPaymentTokens(sql, tenant, ids)
    return { tokens, cancellations, batch, revoked: [] }
  },

  decide(request, state, verdict) {
    const { tokens, cancellations, batch, revoked } = state
    const token = tokens.get(request.input.params.id)
    const cancellation = cancellations.get(request)
    if (!token || !cancellation || !mayReachRecord(request.actor, token))
      return verdict.refuse('token_not_found')
    const over = unusablePaymentTokenReason(token, request.now)
    if (over !== undefined && over !== 'token_waiting') return verdict.refuse('token_over')
    const refused = { ...verdict, refuse: () => verdict.refuse('token_over') }
    const intent = cancelIntentOperation.decide(cancellation, batch, refused)
    if (intent instanceof Refusal) return intent
    paymentTokenMachine.move(token, 'revoked')
    token.updatedAt = request.now
    revoked.push(token)
    verdict.emit('claim.payment_token.revoked', paymentTokenEvent(token))
    return token
  },

  async write(state, sql, runForOwner) {
    const { batch, revoked } = state
    const [tenant] = revoked
    if (tenant)
      await Promise.all([
        cancelIntentOperation.write(batch, sql, runForOwner),
        updatePaymentTokens(sql, tenant, revoked),
      ])
  },
} satisfies Handler
