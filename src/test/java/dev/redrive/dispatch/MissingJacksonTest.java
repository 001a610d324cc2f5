package dev.redrive.dispatch;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import org.junit.jupiter.api.Test;

class MissingJacksonTest {

  /** The library's classes anew, on a class path without Jackson. */
  private static final class WithoutJackson extends URLClassLoader {
    WithoutJackson() {
      super(
          new URL[] {HttpHandler.class.getProtectionDomain().getCodeSource().getLocation()},
          MissingJacksonTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.startsWith("com.fasterxml.")) {
        throw new ClassNotFoundException(name);
      }
      if (name.startsWith("dev.redrive.")) {
        synchronized (getClassLoadingLock(name)) {
          Class<?> loaded = findLoadedClass(name);
          return loaded != null ? loaded : findClass(name);
        }
      }
      return super.loadClass(name, resolve);
    }
  }

  @Test
  void isOneClearSentence() throws Exception {
    try (WithoutJackson loader = new WithoutJackson()) {
      Method to = loader.loadClass(HttpHandler.class.getName()).getMethod("to", URI.class);
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(() -> to.invoke(null, URI.create("http://shop.example/")))
            .isInstanceOf(InvocationTargetException.class)
            .cause()
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("com.fasterxml.jackson.core:jackson-databind");
      }
    }
  }
}
