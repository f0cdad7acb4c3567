import './authorizations/lifecycle.ts'
