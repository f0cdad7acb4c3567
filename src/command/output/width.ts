const PLAIN = /^[\x20-\x7e]*$/
/** Combining marks, joiners and variation selectors take no place of their own. */
const NARROWEST = /^(\p{M}|[\u200b\u200c]|\u200d|[\ufe00-\ufe0f])$/u
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u

const widthOfCharacter = (character: string): number =>
  NARROWEST.test(character) ? 0 : WIDE.test(character) ? 2 : 1

/** How many columns of a terminal a text takes. */
export const widthOf = (text: string): number =>
  PLAIN.test(text) ? text.length : [...text].reduce((sum, character) => sum + widthOfCharacter(character), 0)

/** The text in at most so many columns; what is left out is three dots in one. */
export function cutTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let [cut, width] = ['', 0]
  for (const character of text) {
    width += widthOfCharacter(character)
    if (width > columns - 1) break
    cut += character
  }
  return `${cut}…`
}

export const padded = (text: string, columns: number, isRight = false): string => {
  const gap = ' '.repeat(Math.max(0, columns - widthOf(text)))
  return isRight ? gap + text : text + gap
}
