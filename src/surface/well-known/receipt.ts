/** A receipt as a payer has it: what it says, and the proof of that. */
export interface ShownReceipt {
  readonly members: Readonly<Record<string, unknown>>
  readonly proof: string
}

/** The proof in a header `Payment-Receipt`: base64url of JSON. Undefined where the text is something else. */
export function receiptProofIn(text: string): ShownReceipt | undefined {
  if (text.includes('.')) return undefined
  try {
    const receipt: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (typeof receipt !== 'object' || receipt === null) return undefined
    const { proof, ...members } = receipt as Readonly<Record<string, unknown>>
    return typeof proof === 'string' ? { members, proof } : undefined
  } catch {
    return undefined
  }
}
