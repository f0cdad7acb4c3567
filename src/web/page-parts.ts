import { readFileSync } from 'node:fs'

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** The palette, light and dark, and the plain elements: the style sheet of every page begins with it. */
export const baseStyle = (): string => read('styles/base.css')

/** How pages show UTC beside an instant: those whose script puts it into the zone of the reader. */
export const timeStyle = (): string => read('styles/times.css')

/** What a page adds that is shown where nothing else can be. */
export const refusalStyle = (): string => read('styles/refusal.css')

/** What keeps what is pressed before the scripts of a page listen: the head of a page loads it before them, and at once. */
export const earlyScript = (): string => read('scripts/early.js')

export const pageIcon = (): string => read('icon.svg')
