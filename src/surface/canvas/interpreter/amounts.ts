/** A number as somebody has typed it: null where it can be read in two ways. */
export function numberIn(text: string): number | null | undefined {
  if (/^\d+$/.test(text)) return Number(text)
  // One mark before exactly three digits: a thousand, or one and a bit.
  if (/^\d{1,3}[.,]\d{3}$/.test(text)) return null
  if (/^\d+[.,]\d{1,2}$/.test(text)) return Number(text.replace(',', '.'))
  const [, whole, , , rest] = /^(\d{1,3}(([.,])\d{3})+)(?!\3)[.,](\d{1,2})$/.exec(text) ?? []
  if (whole !== undefined) return Number(`${whole.replace(/[.,]/g, '')}.${rest}`)
  const isGrouped = /^\d{1,3}(?:\.\d{3}){2,}$|^\d{1,3}(?:,\d{3}){2,}$/.test(text)
  return isGrouped ? Number(text.replace(/[.,]/g, '')) : undefined
}
