import type { Mode } from '../../kernel/contract/actor.ts'
import { AnswerNow } from '../../kernel/contract/handlers.ts'
import { bindHandlers, type ContextOf, DONE, externalCall } from '../../kernel/contract/operation.ts'
import { question } from '../../kernel/contract/question.ts'
import { definedOnly, FOR_UPDATE } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import type { FundingInstrument, MissingInstrument } from '../../ports/funding-rail.ts'
import { addMs, days } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { paymentMethodsApi } from './api.ts'
import { PaymentMethod, paymentMethodMachine } from './payment-method.ts'

/** Stored before the call, so its members must be JSON. */
interface TokenCheck {
  readonly mode: Mode
  readonly ownerId: string
  readonly reference: string
  readonly token: string
  readonly holder: string
}

const paymentMethodEvent = ({ id, status, kind, brand, last4 }: PaymentMethod) => ({
  paymentMethodId: id,
  status,
  kind,
  brand,
  last4,
})

/** The page of a setup gives one payment method, however often its token is added. */
async function recordInstrument(
  answer: FundingInstrument | MissingInstrument,
  { token: given, holder }: TokenCheck,
  context: ContextOf<typeof paymentMethodsApi.addPaymentMethod>,
) {
  const { em, emit, refuse } = context
  if (answer === 'unknown') return refuse('token_unknown')
  if (answer === 'incomplete') return refuse('setup_incomplete')
  if (answer === 'silent') return refuse('processor_silent')
  const { kind, brand, last4, token } = answer
  if (token !== given) {
    await lockTenant(context, 'payment-methods')
    const [known] = await em.find(PaymentMethod, { token }, { limit: 1 })
    if (known) return known.status === 'active' ? known : refuse('token_unknown')
  }
  const method = em.create(PaymentMethod, { kind, brand, last4, token, holder })
  emit('payment_method.created', paymentMethodEvent(method))
  return method
}

/** Whether a charge of this payment method is pending. */
export const pendingCharges = question<string, boolean>('payment_methods.pending_charges')

/** A pending charge is looked for among those of its payer, who is then erased later. */
const erasePayer = externalCall(paymentMethodsApi.erasePayer, {
  async reserve({ params: { id } }, context) {
    const { em, now, systems, service, refuse } = context
    const { mode } = context.tenant
    const method = await em.findOne(PaymentMethod, { id }, FOR_UPDATE)
    if (!method) return refuse('payment_method_not_found')
    if (!method.eraseAt || method.eraseAt > now) return new AnswerNow(DONE)
    systems.fundingRail(mode)
    method.eraseAt = addMs(now, days(1))
    const pending = await service.ask(pendingCharges, id, context)
    return pending.includes(true) ? new AnswerNow(DONE) : { id, mode, token: method.token }
  },
  call: ({ id, mode, token }, { systems, requestId }) =>
    systems.fundingRail(mode).erase(token, { reference: `${id}-erased`, requestId }),
  async record(answer, { id }, { em, emit }) {
    const method = await em.findOne(PaymentMethod, { id }, FOR_UPDATE)
    if (answer === 'silent' || !method) return DONE
    method.eraseAt = null
    emit('payment_method.payer_erased', paymentMethodEvent(method))
    return DONE
  },
  recover: async () => DONE,
})

export const paymentMethodHandlers = bindHandlers(paymentMethodsApi, {
  erasePayer,

  setUpPaymentMethod: externalCall(paymentMethodsApi.setUpPaymentMethod, {
    async reserve(_, { tenant, systems }) {
      systems.fundingRail(tenant.mode)
      return { ...tenant, reference: newId('setup') }
    },
    call: ({ mode, ownerId, reference }, { systems, service, requestId }) =>
      systems
        .fundingRail(mode)
        .setUp({ ownerId, returnUrl: service.pageUrl('/console/billing') }, { reference, requestId }),
    async record(answer, { reference: setupId }, { emit, refuse }) {
      if (answer === 'silent') return refuse('processor_silent')
      if ('refused' in answer) return refuse('processor_refused', answer.refused)
      emit('payment_method.setup_created', { setupId, expiresAt: answer.expiresAt })
      return answer
    },
    recover: async (_, { refuse }) => refuse('processor_silent'),
  }),

  addPaymentMethod: externalCall(paymentMethodsApi.addPaymentMethod, {
    async reserve({ body }, { tenant: { mode, ownerId }, systems }) {
      // Throws before anything is reserved if this mode has no rail.
      systems.fundingRail(mode)
      return { ...body, mode, ownerId, reference: newId('tokencheck') }
    },
    call: ({ mode, token, ownerId, reference }, { systems, requestId }) =>
      systems.fundingRail(mode).instrumentOf(token, { ownerId, reference, requestId }),
    record: recordInstrument,
    /** The answer was lost in a crash, which counts as a processor that did not answer in time. */
    recover: (check, context) => recordInstrument('silent', check, context),
  }),

  paymentMethods: ({ query: { status = 'active', kind } }, { page }) =>
    page(PaymentMethod, definedOnly({ status, kind })),

  /** The processor first: what is removed here can no longer be charged there. */
  removePaymentMethod: externalCall(paymentMethodsApi.removePaymentMethod, {
    async reserve({ params: { id } }, { em, tenant: { mode }, systems, refuse }) {
      const method = await em.findOne(PaymentMethod, { id, status: 'active' })
      if (!method) return refuse('payment_method_not_found')
      systems.fundingRail(mode)
      return { id, mode, token: method.token }
    },
    call: ({ id, mode, token }, { systems, requestId }) =>
      systems.fundingRail(mode).forget(token, { reference: id, requestId }),
    async record(answer, { id }, { em, now, emit, refuse }) {
      if (answer === 'silent') return refuse('processor_silent')
      const method = await em.findOne(PaymentMethod, { id }, FOR_UPDATE)
      if (!method || !paymentMethodMachine.move(method, 'removed')) return refuse('payment_method_not_found')
      Object.assign(method, { removedAt: now, eraseAt: now })
      emit('payment_method.removed', paymentMethodEvent(method))
    },
    recover: async (_, { refuse }) => refuse('processor_silent'),
  }),
})
