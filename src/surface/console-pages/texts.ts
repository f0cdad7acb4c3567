import type { Language } from '../../web/language.ts'
import type { Texts } from './text-types.ts'
import { german } from './texts-de.ts'
import { english } from './texts-en.ts'

export const texts: Readonly<Record<Language, Texts>> = { en: english, de: german }
