/** ISO 11649: `RF`, two check digits, and up to 21 letters and digits of one's own. */
const SHAPE = /^RF\d{2}[0-9A-Z]{1,21}$/

/** What is left of a text, its letters read as 10 to 35, when it is divided by 97: as with an IBAN (ISO 7064). */
function mod97(text: string): number {
  const digits = text.replace(/[A-Z]/g, letter => String(letter.charCodeAt(0) - 55))
  return Number(BigInt(digits) % 97n)
}

/** The reference by which a payment is known, made of capital letters and digits. */
export function creditorReference(own: string): string {
  const check = 98 - mod97(`${own}RF00`)
  return `RF${String(check).padStart(2, '0')}${own}`
}

/** Whether the check digits of a plain reference hold. */
export const isCreditorReference = (text: string): boolean =>
  SHAPE.test(text) && mod97(text.slice(4) + text.slice(0, 4)) === 1
