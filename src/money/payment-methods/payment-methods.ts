import type { Mode } from '../../kernel/contract/actor.ts'
import { bindHandlers, type ContextOf, externalCall } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import type { FundingInstrument, MissingInstrument } from '../../ports/funding-rail.ts'
import { newId } from '../../values/ids.ts'
import { paymentMethodsApi } from './api.ts'
import { PaymentMethod, paymentMethodMachine } from './payment-method.ts'

/** Stored before the call, so its members must be JSON. */
interface TokenCheck {
  readonly mode: Mode
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

async function recordInstrument(
  answer: FundingInstrument | MissingInstrument,
  { token, holder }: TokenCheck,
  { records, emit, refuse }: ContextOf<typeof paymentMethodsApi.addPaymentMethod>,
) {
  if (answer === 'unknown') return refuse('token_unknown')
  if (answer === 'silent') return refuse('processor_silent')
  const { kind, brand, last4 } = answer
  const method = records.create(PaymentMethod, { kind, brand, last4, token, holder })
  emit('payment_method.created', paymentMethodEvent(method))
  return method
}

export const paymentMethodHandlers = bindHandlers(paymentMethodsApi, {
  addPaymentMethod: externalCall(paymentMethodsApi.addPaymentMethod, {
    async reserve({ body }, { tenant: { mode }, ports }) {
      // Throws before anything is reserved if this mode has no rail.
      ports.fundingRail(mode)
      return { ...body, mode, reference: newId('tokencheck') }
    },
    call: ({ mode, token, reference }, { ports, requestId }) =>
      ports.fundingRail(mode).instrumentOf(token, { reference, requestId }),
    record: recordInstrument,
    /** The answer was lost in a crash, which counts as a processor that did not answer in time. */
    recover: (check, context) => recordInstrument('silent', check, context),
  }),

  paymentMethods: ({ query: { status = 'active', kind } }, { page }) =>
    page(PaymentMethod, definedOnly({ status, kind })),

  async removePaymentMethod({ params }, { records, now, emit, refuse }) {
    const method = await records.lock(PaymentMethod, params.id)
    if (!method || !paymentMethodMachine.move(method, 'removed')) return refuse('payment_method_not_found')
    method.removedAt = now
    emit('payment_method.removed', paymentMethodEvent(method))
  },
})
