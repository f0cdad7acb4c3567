/** For `page.evaluate`: texts whose contrast is below AA. */
export function faintTexts(): string[]
