import type { Language } from '../../web/language.ts'
import { germanTexts } from './texts-de.ts'
import { type ConsolePageTexts, englishTexts } from './texts-en.ts'

export const consolePageTexts: Readonly<Record<Language, ConsolePageTexts>> = {
  en: englishTexts,
  de: germanTexts,
}
