/** For `page.evaluate`: the texts whose contrast with their background is below AA. */
export function faintTexts(): string[]
