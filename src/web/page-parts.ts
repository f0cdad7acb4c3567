import { readFileSync } from 'node:fs'

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

/** The palette, light and dark, and the plain elements: the style sheet of every page begins with it. */
export const baseStyle = (): string => read('styles/base.css')

export const pageIcon = (): string => read('icon.svg')
