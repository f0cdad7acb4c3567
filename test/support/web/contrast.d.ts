/** To be given to `page.evaluate`: the texts whose contrast with their ground is below AA. */
export function faintTexts(): string[]
