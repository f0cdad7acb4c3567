import type { Language } from '../../web/language.ts'
import { german } from './texts-de.ts'
import { english, type Texts } from './texts-en.ts'

export const texts: Readonly<Record<Language, Texts>> = { en: english, de: german }
