import { type CallExternal, chainExternalCall } from '../../../kernel/contract/handlers.ts'
import { withMembers } from '../../../kernel/database/entity.ts'
import type { MppCredential } from '../credential.ts'
import { merchantRequestHeaders } from '../merchant-request.ts'
import type { MachinePaymentStage, SendablePayment } from './payment.ts'
import { isMachinePaymentPaid, recordPaidStep, sendCredential } from './send.ts'

type ShownCredential = MppCredential & { readonly header: string; readonly credential: string }

export type HandedOver = ShownCredential | CallExternal<MachinePaymentStage>

/** Shows a recorded credential to its caller, or sends it, once. */
export function handOver(
  credential: MppCredential,
  payment: SendablePayment,
  { header, credential: value }: { readonly header: string; readonly credential: string },
): HandedOver {
  if (credential.sentBy === 'caller')
    return withMembers(credential, { header: shownHeader(header), credential: value })
  const { request } = payment
  const headers = { ...merchantRequestHeaders(request.headers, header), [header]: value }
  return chainExternalCall(
    { stage: 'send', credentialId: credential.id },
    {
      value: { ...payment, request: { ...request, headers } },
      call: sendCredential,
      step: recordPaidStep,
      accepts: isMachinePaymentPaid,
    },
  )
}

const shownHeader = (header: string): string =>
  header === 'authorization' ? 'Authorization' : 'Payment-Authorization'
