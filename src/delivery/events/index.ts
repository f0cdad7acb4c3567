export { misnamed, misnamedOne, unknownEvent } from './event-names.ts'
