export const REFUSALS = { id: 'errors', title: 'Refusals' }

/** The page that tells why a request was refused with this code, and what to do. */
export const refusalAddress = (code: string): string => `/docs/${REFUSALS.id}/${code}`
