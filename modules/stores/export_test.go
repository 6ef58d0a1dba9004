package stores

// ConnectionPassword is the password that connections are made with.
func (m *Postgres) ConnectionPassword() string { return m.config.ConnConfig.Password }
