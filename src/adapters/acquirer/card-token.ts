import { z } from 'zod'

/** The parts of a decrypted token that a charge goes by. */
export interface CardToken {
  readonly number: string
  readonly expMonth: number
  readonly expYear: number
  readonly cryptogram: string
}

const Token = z.object({
  token: z.object({
    paymentToken: z.string().regex(/^\d{12,19}$/),
    tokenExpirationMonth: z.string().regex(/^(0?[1-9]|1[0-2])$/),
    tokenExpirationYear: z.string().regex(/^(20)?\d{2}$/),
  }),
  dynamicData: z.object({ dynamicDataValue: z.string().max(1_000) }),
})

/** Reads what the payer has encrypted. The problem names the member and never quotes what was sent. */
export function cardTokenOf(plain: unknown): CardToken | { readonly refused: string } {
  const { data, error } = Token.safeParse(plain)
  if (!data) {
    const member = error.issues[0]?.path.join('.') || 'the token'
    return { refused: `The token cannot be read: ${member} is missing or wrong.` }
  }
  const { paymentToken, tokenExpirationMonth, tokenExpirationYear } = data.token
  return {
    number: paymentToken,
    expMonth: Number(tokenExpirationMonth),
    expYear: 2_000 + (Number(tokenExpirationYear) % 100),
    cryptogram: data.dynamicData.dynamicDataValue,
  }
}
