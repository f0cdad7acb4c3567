import { readFileSync } from 'node:fs'

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** The palette, light and dark, and the plain elements: the style sheet of every page begins with it. */
export const baseStyle = (): string => read('styles/base.css')

/** What a page adds that is shown where nothing else can be. */
export const refusalStyle = (): string => read('styles/refusal.css')

export const pageIcon = (): string => read('icon.svg')
