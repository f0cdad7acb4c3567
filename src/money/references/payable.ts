import { z } from 'zod'

/** What money can be paid for: a request, a token, or a payment of which a part is given back. */
export const payableTypes = ['request', 'payment_token', 'payment'] as const
export type PayableType = (typeof payableTypes)[number]

/** What is to be paid, beside the wallet that gets the money. */
export interface Payable {
  readonly type: PayableType
  readonly id: string
}

/** The payable in a record and in an event: both members, or both null. */
export const payableMembers = {
  payableType: z.enum(payableTypes).nullable().meta({
    description:
      'What the money is for, where that is known. `request`: a payment request. `payment_token`: a charge. `payment`: it comes back, of the payment with this id.',
  }),
  payableId: z
    .string()
    .max(140)
    .nullable()
    .meta({ examples: ['request_01jd8x2m4ye7k9v0c3q5r6t8wz'] }),
}

/** The payable as the members of a record. */
export const payableColumns = (payable: Payable | null) => ({
  payableType: payable?.type ?? null,
  payableId: payable?.id ?? null,
})

/** The payable of a record, from its members. */
export const payableOf = ({
  payableType,
  payableId,
}: {
  readonly payableType: PayableType | null
  readonly payableId: string | null
}): Payable | null => (payableType && payableId ? { type: payableType, id: payableId } : null)
