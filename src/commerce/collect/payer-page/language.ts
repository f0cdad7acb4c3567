export const languages = ['en', 'de'] as const
export type Language = (typeof languages)[number]

/** More than any browser sends. */
const MOST_PREFERENCES = 32

/** The language of these that `Accept-Language` prefers (RFC 9110); English where it prefers none. */
export function languageOf(accepted = ''): Language {
  const preferences = accepted.toLowerCase().split(',', MOST_PREFERENCES).map(preferenceOf)
  const weightOf = (language: Language): number => {
    const named = preferences.find(({ range }) => range.split('-')[0] === language)
    return (named ?? preferences.find(({ range }) => range === '*'))?.weight ?? 0
  }
  return weightOf('de') > weightOf('en') ? 'de' : 'en'
}

function preferenceOf(part: string): { range: string; weight: number } {
  const [range = '', ...parameters] = part.split(';').map(piece => piece.trim())
  const given = parameters.find(parameter => parameter.startsWith('q='))
  return { range, weight: given === undefined ? 1 : Number(given.slice(2)) || 0 }
}
