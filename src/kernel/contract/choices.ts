import { z } from 'zod'

/** Choices that callers may also give by the word that another area has for the same idea. */
export const choiceWithSynonyms = <const T extends readonly [string, ...string[]]>(
  choices: T,
  synonyms: Readonly<Record<string, T[number]>>,
) => {
  const choice = z.enum(choices)
  type Choice = typeof choice
  return z
    .preprocess<unknown, Choice, z.input<Choice>>(
      given => (typeof given === 'string' && Object.hasOwn(synonyms, given) ? synonyms[given] : given),
      choice,
    )
    .meta({ 'x-synonyms': synonyms })
}
