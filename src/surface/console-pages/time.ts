import { type Html, html } from '../../web/html.ts'
import { type Language, minuteIn } from '../../web/language.ts'

/** An instant: by the clock of Frankfurt, and by the reader’s own zone where scripts run, as in the console. */
export const timeIn = (language: Language, at: Date): Html =>
  html`<time datetime="${at.toISOString()}">${minuteIn(language, at)}</time>`
