/** `intents.create` is `IntentsCreate` in names of types. */
export const pascal = (key: string): string =>
  key
    .split('.')
    .map(part => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')

/** `agentTokens` is `agent_tokens` in Python. */
export const snake = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

export const isName = (text: string): boolean => /^[A-Za-z_$][\w$]*$/.test(text)

/** The last part of a reference names the record. */
export const recordIn = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)
