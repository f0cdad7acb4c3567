import { z } from 'zod'
import { type IdentityNotice, rejectionCodes } from '../../ports/identity-verification.ts'

/** Above every notice of the sandbox. */
const MAX_BYTES = 4_096

const Notice = z.strictObject({
  reference: z.string().regex(/^[\w.:@-]{1,128}$/),
  status: z.discriminatedUnion('status', [
    z.strictObject({ status: z.literal('in_review') }),
    z.strictObject({ status: z.literal('verified') }),
    z.strictObject({ status: z.literal('rejected'), code: z.enum(rejectionCodes) }),
  ]),
})

export const written = (notice: IdentityNotice): string => JSON.stringify(z.encode(Notice, notice))

/** The notice, or which member is wrong. Never quotes what was sent. */
export function parsed(body: Uint8Array): IdentityNotice | { readonly problem: string } {
  if (body.length > MAX_BYTES) return { problem: `The body has more than ${MAX_BYTES} bytes.` }
  const { data, error } = Notice.safeParse(jsonOf(body))
  return data ?? { problem: `${error.issues[0]?.path.join('.') || 'body'}: it is not as it must be.` }
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}
